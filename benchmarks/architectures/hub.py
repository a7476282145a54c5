"""Models of Keras Hub that take more than a line: each function gets the module ``keras_hub``."""

from __future__ import annotations

from typing import Any


def vision_transformer(hub: Any) -> Any:
    backbone = hub.models.ViTBackbone((224, 224, 3), (16, 16), 12, 3, 192, 768)
    return hub.models.ViTImageClassifier(backbone, num_classes=1000)


def _mix_transformer(hub: Any, size: int) -> Any:
    return hub.models.MiTBackbone(
        layerwise_depths=[2, 2, 2, 2],
        num_layers=4,
        layerwise_num_heads=[1, 2, 5, 8],
        layerwise_sr_ratios=[8, 4, 2, 1],
        max_drop_path_rate=0.1,
        layerwise_patch_sizes=[7, 3, 3, 3],
        layerwise_strides=[4, 2, 2, 2],
        image_shape=(size, size, 3),
        hidden_dims=[32, 64, 160, 256],
    )


def segformer(hub: Any) -> Any:
    backbone = hub.models.SegFormerBackbone(image_encoder=_mix_transformer(hub, 512), projection_filters=256)
    return hub.models.SegFormerImageSegmenter(backbone=backbone, num_classes=150)


def _residual(hub: Any, size: int, blocks: list[int], kind: str = "bottleneck_block") -> Any:
    filters = [64, 128, 256, 512]
    return hub.models.ResNetBackbone(
        input_conv_filters=[64],
        input_conv_kernel_sizes=[7],
        stackwise_num_filters=filters,
        stackwise_num_blocks=blocks,
        stackwise_num_strides=[1, 2, 2, 2],
        block_type=kind,
        image_shape=(size, size, 3),
    )


def deeplab(hub: Any) -> Any:
    backbone = hub.models.DeepLabV3Backbone(
        image_encoder=_residual(hub, 512, [3, 4, 6, 3]),
        spatial_pyramid_pooling_key="P5",
        low_level_feature_key="P2",
        upsampling_size=8,
        dilation_rates=[6, 12, 18],
        image_shape=(512, 512, 3),
    )
    return hub.models.DeepLabV3ImageSegmenter(backbone=backbone, num_classes=21)


def retinanet(hub: Any) -> Any:
    backbone = hub.models.RetinaNetBackbone(
        image_encoder=_residual(hub, 512, [3, 4, 6, 3]),
        min_level=3,
        max_level=7,
        use_p5=False,
        image_shape=(512, 512, 3),
    )
    return hub.models.RetinaNetObjectDetector(backbone, num_classes=80, bounding_box_format="xyxy")


def sam_encoder(hub: Any) -> Any:
    return hub.models.ViTDetBackbone(
        hidden_size=192,
        num_layers=4,
        intermediate_dim=768,
        num_heads=4,
        global_attention_layer_indices=[1, 3],
        image_shape=(512, 512, 3),
        patch_size=16,
        num_output_channels=256,
        window_size=14,
    )


def swin(hub: Any) -> Any:
    return hub.models.SwinTransformerBackbone((224, 224, 3), 96, (2, 2, 6, 2), (3, 6, 12, 24), 7)
